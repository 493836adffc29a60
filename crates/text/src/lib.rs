//! URLs in text: where one starts (`scan`), how it continues (`repair`), where it ends (`parse`)
//! and its structure (`grammar`). Also the basics that every crate needs: limits, spans,
//! diagnostics, origins.

/// Declares an enum; each row is `Variant = "name",`. `ALL` lists the variants in the order of
/// declaration, and `name` returns a variant's name.
#[macro_export]
macro_rules! named_enum {
    (
        $(#[$attribute:meta])*
        $visibility:vis enum $type:ident {
            $($(#[$doc:meta])* $variant:ident = $name:literal,)+
        }
    ) => {
        $(#[$attribute])*
        $visibility enum $type {
            $($(#[$doc])* $variant,)+
        }

        impl $type {
            /// All values, in the order of declaration.
            pub const ALL: [$type; [$($name),+].len()] = [$($type::$variant),+];

            /// Names of all values, in the same order.
            pub const NAMES: [&'static str; [$($name),+].len()] = [$($name),+];

            /// Returns the name by which the output shows it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $($type::$variant => $name,)+
                }
            }
        }
    };
}

/// Returns the table of the bytes for which an expression holds, as a constant.
macro_rules! byte_table {
    (|$byte:ident| $belongs:expr) => {{
        let mut table = [false; 256];
        let mut at = 0;
        while at < table.len() {
            let $byte = at as u8;
            table[at] = $belongs;
            at += 1;
        }
        table
    }};
}

pub mod byte_scan;
pub mod diagnostic;
pub mod grammar;
pub mod hash;
pub mod limits;
pub mod origin;
pub mod parse;
pub mod planted_faults;
pub mod repair;
pub mod scan;
pub mod span;
pub mod unpack_balance;
