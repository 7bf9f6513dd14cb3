// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/jwks.h"

#include <doctest/doctest.h>
#include <string>

using namespace bridge::slinky;

TEST_CASE("a JSON Web Key Set of which slurmctld and slurmdbd do not die")
{
    for (const char *good :
         {R"({"keys": []})",
          R"({"keys": [{"alg": "RS256", "kid": "a", "n": "1", "e": "AQAB"}]})",
          R"({"keys": [{"kty": "RSA", "kid": "a", "n": "1", "e": "AQAB"}]})",
          // These are not used.
          R"({"keys": [{"alg": "ES256", "kty": "EC"}, {"kty": "OKP"}, 3]})"}) {
        CAPTURE(good);
        CHECK(jwks_mistake(good) == "");
    }
}

TEST_CASE("what is wrong with a JSON Web Key Set is said")
{
    CHECK(jwks_mistake("").starts_with("The JSON Web Key Set is no JSON: "));
    for (const char *none : {"{}", "[]", "3", R"({"keys": {}})"}) {
        CAPTURE(none);
        CHECK(jwks_mistake(none) == "The JSON Web Key Set has no list "
                                    "\"keys\".");
    }
    CHECK(jwks_mistake(R"({"keys": [{"kty": "RSA", "n": "1", "e": "A"}]})") ==
          "A key for RS256 of the JSON Web Key Set has no \"kid\".");
    CHECK(
        jwks_mistake(R"({"keys": [{"alg": "RS256", "kid": "a", "n": "1"}]})") ==
        "A key for RS256 of the JSON Web Key Set has no \"e\".");
}
