"""Reads argument lists of the AWS CLI as JSON, and prints for each what the CLI has against it, or null. Calls nothing."""

import contextlib
import io
import json
import os
import sys

from awscli.clidriver import create_clidriver

os.environ.update(
    AWS_ACCESS_KEY_ID="none", AWS_SECRET_ACCESS_KEY="none", AWS_DEFAULT_REGION="eu-west-1"
)


accepted = []


def stop(**_):
    accepted.append(True)
    raise InterruptedError


driver = create_clidriver()
# The CLI emits it when all arguments are parsed and hold against the service's model.
driver.session.register("before-call", stop)


def objection(arguments):
    accepted.clear()
    printed = io.StringIO()
    with contextlib.redirect_stderr(printed), contextlib.redirect_stdout(io.StringIO()):
        with contextlib.suppress(SystemExit):
            driver.main(arguments)
    return None if accepted else printed.getvalue()


json.dump([objection(arguments) for arguments in json.load(sys.stdin)], sys.stdout)
