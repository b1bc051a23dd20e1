from migrate_mgpu.cli import main_command

main_command()
