//! `render`: what `helm template --dry-run=server` prints.

use crate::args::RenderArgs;
use crate::exit::Exit;

/// Prints the rendered manifest, or the error as Helm words it.
pub fn run(_args: &RenderArgs) -> Exit {
    Exit::Usage
}
