//! Macros: enums whose variants have names in the output, and tables of bytes.

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
