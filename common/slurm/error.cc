// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm/error.h"

#include <cerrno>

extern "C" {
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
}

namespace bridge {

namespace {

Code code_of(int error)
{
    switch (error) {
    case ESLURM_INVALID_JOB_ID:
        return Code::not_found;
    // The request was sent, but no answer arrived.
    case SLURM_COMMUNICATIONS_RECEIVE_ERROR:
    case SLURMCTLD_COMMUNICATIONS_RECEIVE_ERROR:
    case SLURM_COMMUNICATIONS_READ_TIMEOUT:
    case SLURM_COMMUNICATIONS_SHUTDOWN_ERROR:
    case SLURMCTLD_COMMUNICATIONS_SHUTDOWN_ERROR:
    case SLURM_PROTOCOL_SOCKET_IMPL_TIMEOUT:
    case SLURM_PROTOCOL_SOCKET_ZERO_BYTES_SENT:
    case SLURM_PROTOCOL_AUTHENTICATION_ERROR: // perhaps of the answer
    case ESLURM_PROTOCOL_INCOMPLETE_PACKET:
    case ETIMEDOUT:
    case ECONNRESET:
    case EPIPE:
        return Code::uncertain;
    case SLURM_COMMUNICATIONS_CONNECTION_ERROR:
    case SLURM_COMMUNICATIONS_CONNECT_TIMEOUT:
    case SLURM_COMMUNICATIONS_SEND_ERROR:
    case SLURM_COMMUNICATIONS_WRITE_TIMEOUT:
    case SLURM_COMMUNICATIONS_QUIESCE_TIMEOUT:
    case SLURM_COMMUNICATIONS_REJECTED:
    case SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR:
    case SLURMCTLD_COMMUNICATIONS_SEND_ERROR:
    case SLURMCTLD_COMMUNICATIONS_BACKOFF:
    case SLURMCTLD_COMMUNICATIONS_HARD_DROP:
    case ESLURM_IN_STANDBY_MODE:
    case ESLURM_IN_STANDBY_USE_BACKUP:
    case ESLURM_DB_CONNECTION:
    case ESLURM_MAX_JOB_COUNT: // there is room when jobs end
    case ECONNREFUSED:
    case EAGAIN:
        return Code::busy;
    case ESLURM_ACCESS_DENIED:
    case ESLURM_USER_ID_MISSING:
        return Code::denied;
    default:
        return Code::rejected;
    }
}

} // namespace

std::unexpected<Error> fail_slurm(int error, const std::string &doing)
{
    if (error == 0) // libslurm failed without an errno
        return fail(Code::uncertain, doing + ": no answer from slurmctld");
    return fail(code_of(error), doing + ": " + slurm_strerror(error));
}

} // namespace bridge
