//! What all components with poses have.

use ambit_proto::pose::PoseFormat;
use ambit_proto::schema::Codec;

use super::Place;

#[cfg(feature = "rules")]
pub(super) mod access;

/// A component with an adjustable grid: `#[pose(format = MY_FORMAT)]` replaces the grid that the
/// type's parameters give, for velocities or for physics that clients share.
///
/// What is steered or simulated begins with one. This does not compile:
///
/// ```compile_fail
/// use ambit::prelude::*;
///
/// #[derive(Kind)]
/// #[kind(simulated)]
/// struct Ball {
///     path: Path,
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a pose",
    note = "`#[pose(format = ...)]`, `#[kind(steered)]` and `#[kind(simulated)]` are for kinds \
            whose first component is a `YawPose` or a `FreePose`; a `Path` is known in advance, \
            so nothing moves along it by keys or by physics"
)]
pub trait Posed: Place {
    /// Whether its format may have velocities.
    #[doc(hidden)]
    const HAS_VELOCITIES: bool;

    #[doc(hidden)]
    fn codec_of(format: PoseFormat) -> Codec {
        Codec::Pose(format)
    }
}
