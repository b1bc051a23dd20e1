"""``migrate-mgpu``, whose programs run in the processes of the test that starts it."""

from migrate_mgpu import cli
from migrate_mgpu.parity.runs import programs
from tests.support import servers

if __name__ == "__main__":
    programs.run_all = servers.run_all
    cli.main_command()
