//! The nodes that have a child for each object in sight.
//!
//! A child is an instance of the scene of its kind. Its methods are called, if it has them:
//! `ambit_came(id, kind, values)` once, before it is in the tree; `ambit_changed(values)` when a
//! component has changed; `ambit_went()` when the object is gone: then it frees itself, otherwise
//! the world frees it. Scenes may have any node below a root of `Node2D` or `Node3D`.

use godot::classes::{Node2D, Node3D, PackedScene};
use godot::obj::WithBaseField;
use godot::prelude::*;

use crate::axes;
use crate::children::{Changes, ChildPose, Children, Coming};
use crate::client::ClientNode;

/// What both worlds have.
macro_rules! world {
    ($(#[$doc:meta])* $World:ident, $Interface:ident, $Child:ident, $place:ident, $scale:ident, {
        $($(#[$attribute:meta])* $field:ident: $Type:tt),*
    }, { $($api:tt)* }) => {
        $(#[$doc])*
        #[derive(GodotClass)]
        #[class(init, base=$Child)]
        pub(crate) struct $World {
            /// Whose objects; the parent, if none is set.
            #[export]
            client: Option<Gd<ClientNode>>,
            /// The scene of each kind, by its name.
            #[export]
            scenes: VarDictionary,
            /// The scene of all other kinds; without it they have no child.
            #[export]
            other_scene: Option<Gd<PackedScene>>,
            $($(#[$attribute])* $field: $Type,)*
            children: Children<$Child>,
            changes: Changes<$Child>,
            base: Base<$Child>,
        }

        #[godot_api]
        impl $Interface for $World {
            #[func(gd_self)]
            fn process(this: Gd<Self>, _seconds: f64) {
                Self::update(this);
            }
        }

        #[godot_api]
        impl $World {
            /// A child was made for an object.
            #[signal]
            fn child_came(id: i64, child: Gd<$Child>);

            /// The object of a child is gone.
            #[signal]
            fn child_went(id: i64, child: Gd<$Child>);

            /// Moves, makes and frees children. `_process` calls it; with `set_process(false)` a
            /// script may.
            #[func(gd_self)]
            fn update(mut this: Gd<Self>) {
                let mut changes = this.bind_mut().compare();
                let scale = $scale(&this.bind());
                changes.gone.retain(|(_, child)| child.is_instance_valid());
                for (id, mut child) in changes.gone.drain(..) {
                    // A script may free the world.
                    if !this.is_instance_valid() {
                        return;
                    }
                    this.signals().child_went().emit(i64::from(id), &child);
                    if child.is_instance_valid() && child.has_method("ambit_went") {
                        child.call("ambit_went", &[]);
                    } else if child.is_instance_valid() {
                        child.queue_free();
                    }
                }
                for mut moving in changes.moving.drain(..) {
                    if moving.node.is_instance_valid() {
                        $place(&mut moving.node, &moving.pose, moving.is_turned, scale);
                    }
                }
                for (mut child, values) in changes.changed.drain(..) {
                    if child.is_instance_valid() && child.has_method("ambit_changed") {
                        child.call("ambit_changed", &[values.to_variant()]);
                    }
                }
                for coming in changes.coming.drain(..) {
                    Self::make(&mut this, coming, scale);
                }
                if this.is_instance_valid() {
                    this.bind_mut().changes = changes;
                }
            }

            /// The child of an object, or null.
            #[func]
            fn child_of(&self, id: i64) -> Option<Gd<$Child>> {
                let child = self.children.node(u32::try_from(id).ok()?)?;
                child.is_instance_valid().then(|| child.clone())
            }

            /// The child of the player's avatar, or null.
            #[func]
            fn own_child(&self) -> Option<Gd<$Child>> {
                let client = self.find_client()?;
                let id = client.bind().own_id();
                self.child_of(id)
            }

            $($api)*
        }

        impl $World {
            fn find_client(&self) -> Option<Gd<ClientNode>> {
                let known = self.client.clone().filter(|client| client.is_instance_valid());
                known.or_else(|| self.base().get_parent()?.try_cast().ok())
            }

            fn compare(&mut self) -> Changes<$Child> {
                let mut changes = std::mem::take(&mut self.changes);
                let client = self.find_client();
                let client = client.as_ref().map(Gd::bind);
                let drawn = client.as_ref().and_then(|client| client.instance());
                self.children.compare(drawn, &mut changes);
                changes
            }

            fn make(this: &mut Gd<Self>, coming: Coming, scale: f32) {
                let Coming { id, kind, pose, values } = coming;
                if !this.is_instance_valid() {
                    return;
                }
                let Some(mut child) = this.bind().instantiate(&kind) else { return };
                $place(&mut child, &pose, true, scale);
                child.set_meta("ambit_id", &id.to_variant());
                if child.has_method("ambit_came") {
                    let id = i64::from(id).to_variant();
                    child.call("ambit_came", &[id, kind.to_variant(), values.to_variant()]);
                }
                this.bind_mut().children.set_node(id, child.clone());
                this.add_child(&child);
                this.signals().child_came().emit(i64::from(id), &child);
            }

            fn instantiate(&self, kind: &str) -> Option<Gd<$Child>> {
                let scene = self.scenes.get(kind).and_then(|scene| scene.try_to().ok());
                let scene: Gd<PackedScene> = scene.or_else(|| self.other_scene.clone())?;
                let root = scene.instantiate()?;
                root.try_cast().map_err(|root| {
                    godot_error!("the root of the scene of '{kind}' is no {}", stringify!($Child));
                    root.free();
                }).ok()
            }
        }
    };
}

world! {
    /// A child for each object in sight, on a plane. Ambit's north is up on the screen.
    AmbitWorld2D, INode2D, Node2D, place_2d, scale_2d, {
        /// How many pixels are a metre of the game.
        #[export]
        #[init(val = 32.0)]
        pixels_per_metre: f32
    }, {
        /// A place of this world as a position of the game, for commands.
        #[func]
        fn to_ambit(&self, at: Vector2) -> Vector3 {
            axes::from_2d(at, self.pixels_per_metre)
        }

        /// A position of the game as a place of this world.
        #[func]
        fn to_world(&self, position: Vector3) -> Vector2 {
            axes::to_2d(position.to_array(), self.pixels_per_metre)
        }
    }
}

world! {
    /// A child for each object in sight, in metres: x to the east, y up, z to the south.
    AmbitWorld3D, INode3D, Node3D, place_3d, scale_3d, {}, {
        /// A place of this world as a position of the game, for commands.
        #[func]
        #[expect(clippy::unused_self, reason = "scripts call it as they do in 2D")]
        fn to_ambit(&self, at: Vector3) -> Vector3 {
            axes::from_3d(at)
        }

        /// A position of the game as a place of this world.
        #[func]
        #[expect(clippy::unused_self, reason = "scripts call it as they do in 2D")]
        fn to_world(&self, position: Vector3) -> Vector3 {
            axes::to_3d(position.to_array())
        }
    }
}

fn scale_2d(world: &AmbitWorld2D) -> f32 {
    world.pixels_per_metre
}

fn scale_3d(_: &AmbitWorld3D) -> f32 {
    1.0
}

fn place_2d(child: &mut Gd<Node2D>, pose: &ChildPose, is_turned: bool, scale: f32) {
    child.set_position(axes::to_2d(pose.position, scale));
    if is_turned {
        child.set_rotation(axes::turn_to_2d(pose.rotation));
    }
}

fn place_3d(child: &mut Gd<Node3D>, pose: &ChildPose, is_turned: bool, _scale: f32) {
    child.set_position(axes::to_3d(pose.position));
    if is_turned {
        child.set_quaternion(axes::turn_to_3d(pose.rotation));
    }
}
