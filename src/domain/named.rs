//! Enums whose values have names.

/// Declares an enum whose values have a name each, in the API and where they are stored: `ALL` has them in this order,
/// `as_str` is the name, `parse` finds a value by it.
macro_rules! named {
    ($(#[$about:meta])* pub enum $Type:ident { $($(#[$meaning:meta])* $Value:ident = $name:literal,)+ }) => {
        $(#[$about])*
        pub enum $Type {
            $($(#[$meaning])* $Value,)+
        }

        impl $Type {
            /// All values, in this order.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$Value),+];

            /// The name.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$Value => $name,)+
                }
            }

            /// The value with this name.
            pub fn parse(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.as_str() == name)
            }
        }
    };
}

pub(crate) use named;
