"""A libcst codemod that changes nothing: what its runner costs by itself."""

import libcst
from libcst.codemod import CodemodContext, VisitorBasedCodemodCommand


class Noop(VisitorBasedCodemodCommand):
    """Visits every file and returns it as it was."""

    DESCRIPTION = "Changes nothing."

    def __init__(self, context: CodemodContext) -> None:
        super().__init__(context)

    def leave_Name(self, original_node: libcst.Name, updated_node: libcst.Name) -> libcst.Name:
        return updated_node
