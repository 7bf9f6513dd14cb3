/* pause: waits for ever and reaps what it inherits. Every Pod's first container, and PID 1 of every sandbox and node. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void end(int signal)
{
	(void) signal;
	_exit(0);
}

static void reap(int signal)
{
	(void) signal;
	while (waitpid(-1, 0, WNOHANG) > 0)
		;
}

int main(void)
{
	struct sigaction on_term = {.sa_handler = end};
	struct sigaction on_child = {.sa_handler = reap, .sa_flags = SA_NOCLDSTOP | SA_RESTART};

	sigaction(SIGINT, &on_term, 0);
	sigaction(SIGTERM, &on_term, 0);
	sigaction(SIGCHLD, &on_child, 0);
	reap(0); /* children that ended before the handler was there */
	for (;;)
		pause();
}
