# SPDX-License-Identifier: Apache-2.0
"""The toolkit tree that C and C++ programs build against, laid out as the vendor's is.

``include/`` holds headers, ``lib64/`` the vendor's library names as links to the one library,
``set_env.sh`` and a CMake package point programs at it. The tree is made on first use, in a folder
of its own for each version of the library.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Final

import aclnn_native
from aclnn_py.abi.headers import operator_headers

__all__ = ["LIBRARIES", "library_path", "make_toolkit"]

LIBRARIES: Final = (
    "ascendcl",
    "acl_rt",
    "nnopbase",
    "opapi",
    "opapi_nn",
    "opapi_math",
    "opapi_cv",
    "opapi_transformer",
    "acl_op_compiler",  # build files of programs that call no operator by its name list it, too
    "msprofiler",  # the profiler's functions, for build files that name their library by its path
)
# Older split of the operators, which frameworks open by name and none links; they look for it, and
# for the rest, below the folder of the vendor's processors.
_OPENED: Final = ("aclnn_ops_infer", "aclnn_math")
_PROCESSOR_FOLDER: Final = "aarch64-linux"

# Where aclsysGetVersionStr looks: the release whose public runtime headers the tree declares.
_VERSION: Final = """\
Version=9.1.0
"""

_SET_ENV = """\
# Points a shell at this toolkit: `. {root}/set_env.sh`
export ASCEND_HOME_PATH='{root}'
export ASCEND_TOOLKIT_HOME='{root}'
export {variable}='{root}/lib64'"${{{variable}:+:${variable}}}"
"""

_CMAKE = """\
# find_package(AclnnPy) with CMAKE_PREFIX_PATH set to this toolkit; link AclnnPy::opapi.
get_filename_component(_aclnn_py_root "${{CMAKE_CURRENT_LIST_DIR}}/../.." ABSOLUTE)
foreach(_name {names})
  if(NOT TARGET AclnnPy::${{_name}})
    add_library(AclnnPy::${{_name}} SHARED IMPORTED)
    set_target_properties(AclnnPy::${{_name}} PROPERTIES
      IMPORTED_LOCATION "${{_aclnn_py_root}}/lib64/lib${{_name}}{suffix}"
      IMPORTED_NO_SONAME TRUE
      INTERFACE_INCLUDE_DIRECTORIES
        "${{_aclnn_py_root}}/include;${{_aclnn_py_root}}/include/aclnnop")
  endif()
endforeach()
set(AclnnPy_FOUND TRUE)
"""


def library_path() -> Path:
    """The one library, beside the binding."""
    folder = Path(aclnn_native.__file__).parent
    places = (Path(aclnn_native._native.__file__).parent, folder)  # noqa: SLF001  # its real place
    found = [path for place in places for path in sorted(place.glob("libaclnn_py.*"))]
    return found[0].resolve()


def _native_headers() -> Path:
    """Headers beside the library; in a checkout, those of the sources."""
    installed = library_path().parent / "include"
    return installed if installed.is_dir() else Path(aclnn_native.__file__).parents[1] / "include"


def make_toolkit(folder: Path | None = None) -> Path:
    """Make the tree, or find the one made before.

    Parameters
    ----------
    folder : Path, optional
        Where; the user's cache folder when not given.

    Returns
    -------
    Path
        Its root, to be used as ``ASCEND_HOME_PATH``.

    Raises
    ------
    FileExistsError
        Where the given folder holds something else, which would be mixed with the tree.
    """
    library = library_path()
    root = folder or _cache() / f"toolkit-{version('aclnn-py')}-{_identity(library)}"
    if (root / "set_env.sh").is_file() and (root / "lib64" / f"libopapi{library.suffix}").exists():
        return root
    if folder is not None and folder.is_dir() and any(folder.iterdir()):
        raise FileExistsError(f"{folder} holds something else")
    root.parent.mkdir(parents=True, exist_ok=True)
    # Built aside and moved into place, so that nobody ever sees half a tree.
    with tempfile.TemporaryDirectory(dir=root.parent) as aside:
        tree = Path(aside) / "toolkit"
        _write(tree, root, library)
        if folder is not None or not root.exists():
            shutil.copytree(tree, root, symlinks=True, dirs_exist_ok=True)
    return root


def _cache() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "aclnn_py"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "aclnn_py"


def _identity(library: Path) -> str:
    """Other environments and rebuilt libraries get a tree of their own."""
    state = library.stat()
    text = f"{library}:{state.st_mtime_ns}:{state.st_size}:{LIBRARIES + _OPENED}"
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _write(tree: Path, root: Path, library: Path) -> None:
    include = tree / "include"
    shutil.copytree(_native_headers() / "toolkit", include)
    for name, text in operator_headers().items():
        path = include / "aclnnop" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    links = tree / "lib64"
    links.mkdir()
    # Linked programs ask for the library by its own name, opened ones by the vendor's.
    names = (f"lib{name}{library.suffix}" for name in (*LIBRARIES, *_OPENED))
    for name in (*names, library.name):
        (links / name).symlink_to(library)
    (tree / _PROCESSOR_FOLDER).mkdir()
    (tree / _PROCESSOR_FOLDER / "lib64").symlink_to(Path("..") / "lib64", target_is_directory=True)
    variable = "DYLD_LIBRARY_PATH" if sys.platform == "darwin" else "LD_LIBRARY_PATH"
    (tree / "set_env.sh").write_text(
        _SET_ENV.format(root=root, variable=variable), encoding="utf-8"
    )
    info = tree / "share" / "info" / "runtime"
    info.mkdir(parents=True)
    (info / "version.info").write_text(_VERSION, encoding="utf-8")
    package = tree / "cmake" / "AclnnPy"
    package.mkdir(parents=True)
    (package / "AclnnPyConfig.cmake").write_text(
        _CMAKE.format(names=" ".join(LIBRARIES), suffix=library.suffix), encoding="utf-8"
    )
