// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/job_ref.h"

#include <doctest/doctest.h>

using namespace bridge;

TEST_CASE("a SLUID is printed as Slurm prints it, and read again")
{
    struct Row {
        std::uint64_t value;
        const char *text;
    };
    const Row rows[] = {
        {0, "s0000000000000"},
        {1, "s0000000000001"},
        {31, "s000000000000Z"},
        {32, "s0000000000010"},
        {UINT64_MAX, "sFZZZZZZZZZZZZ"},
        {std::uint64_t{1} << 63, "s8000000000000"},
    };
    for (const Row &row : rows) {
        CAPTURE(row.text);
        CHECK(Sluid{row.value}.str() == row.text);
        CHECK(Sluid::parse(row.text) == Sluid{row.value});
    }
    for (unsigned bit = 0; bit < 64; bit++) {
        Sluid sluid{std::uint64_t{1} << bit};
        CHECK(Sluid::parse(sluid.str()) == sluid);
    }
}

TEST_CASE("letters of a SLUID are read in either case")
{
    CHECK(Sluid::parse("S000000000000z") == Sluid{31});
    CHECK(Sluid::parse("s000000000000Z") == Sluid{31});
}

TEST_CASE("other texts are no SLUID")
{
    const std::string rows[] = {
        "",
        "s",
        "0000000000000",
        "x0000000000000",
        "s000000000000",   // a digit short
        "s00000000000000", // a digit long
        "sG000000000000",  // 2^64
        "sZZZZZZZZZZZZZ",
        "s000000000000U", // Crockford leaves out I, L, O and U
        "s000000000000I",
        "s000000000000O",
        "s000000000000l",
        "s00000000000-1",
        "s 000000000001",
        "s000000000001 ",
        std::string("s000000000000\0", 14),
        "s000000000000\xc3",
    };
    for (const std::string &row : rows) {
        CAPTURE(row);
        CHECK_FALSE(Sluid::parse(row));
    }
}

TEST_CASE("later SLUIDs sort behind earlier ones, as values and as texts")
{
    Sluid early{1000};
    Sluid late{33000};

    CHECK(early < late);
    CHECK(early.str() < late.str());
    CHECK(JobRef{2, early} < JobRef{2, late});
    CHECK(JobRef{2, early} != JobRef{2, late});
}
