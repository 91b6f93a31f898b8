//! What to tell each client now.
//!
//! [`slots`] holds what one client knows and what is due; [`compose`] turns what is due into records and fills
//! datagrams with them. The seam for budgets, priorities, baselines and shared encodings is `compose`: it alone decides
//! the order and what fits. Source: design, section 6.

pub mod compose;
pub mod slots;
