//! Macros that turn the table of options into an enum, the structs of a definition, and the methods of the builders.

/// Reads the table and hands its entries to the macros below, which have one pattern: that of an entry.
macro_rules! number_options {
    (of flows and steps { $($of_flows:tt)* } of steps alone { $($of_steps_alone:tt)* }) => {
        number_option_enum! { $($of_flows)* $($of_steps_alone)* }
        flow_options! { $($of_flows)* }
        step_options! { $($of_flows)* $($of_steps_alone)* }
    };
}

/// Makes `NumberOption`.
macro_rules! number_option_enum {
    ($(
        $(#[doc = $doc:literal])+
        $Option:ident: $name:ident($Given:ty) as $field:ident, $range:expr, default $default:expr;
    )+) => {
        /// An option with a number: of attempts, or a length of time in milliseconds.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum NumberOption {
            $($(#[doc = $doc])+ $Option,)+
        }

        impl NumberOption {
            /// The option's name in Rust: `base_delay`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$Option => stringify!($name),)+
                }
            }

            /// The option's name in the definition's JSON and in the database: `base_delay_ms`.
            pub const fn field(self) -> &'static str {
                match self {
                    $(Self::$Option => stringify!($field),)+
                }
            }

            /// What the option means, in a sentence.
            pub const fn doc(self) -> &'static str {
                match self {
                    $(Self::$Option => concat!($($doc),+).trim_ascii(),)+
                }
            }

            /// The unit of the number.
            pub const fn unit(self) -> Unit {
                match self {
                    $(Self::$Option => <$Given as BuilderNumber>::UNIT,)+
                }
            }

            /// The values that are allowed.
            pub const fn range(self) -> RangeInclusive<u64> {
                match self {
                    $(Self::$Option => $range,)+
                }
            }

            /// The value where neither flow nor step gives one.
            pub const fn default_value(self) -> u64 {
                match self {
                    $(Self::$Option => $default,)+
                }
            }
        }
    };
}

/// Makes `FlowOptions` and the methods of `FlowBuilder`.
macro_rules! flow_options {
    ($(
        $(#[doc = $doc:literal])+
        $Option:ident: $name:ident($Given:ty) as $field:ident, $range:expr, default $default:expr;
    )+) => {
        impl NumberOption {
            /// The options that a flow takes, as messages list them.
            pub const OF_FLOWS: &'static [Self] = &[$(Self::$Option),+];
        }

        /// The numbers of a flow, with the steps' own values beside them.
        #[cfg(feature = "definition")]
        #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct FlowOptions {
            $($(#[doc = $doc])+ pub $field: u64,)+
            /// The steps' own values, one entry a step in step order.
            pub steps: Vec<StepOptions>,
        }

        #[cfg(feature = "definition")]
        impl Default for FlowOptions {
            fn default() -> Self {
                Self { $($field: $default,)+ steps: Vec::new() }
            }
        }

        #[cfg(feature = "definition")]
        impl FlowOptions {
            /// The flow's own options with their values.
            pub fn numbers(&self) -> impl Iterator<Item = (NumberOption, u64)> {
                [$((NumberOption::$Option, self.$field)),+].into_iter()
            }
        }

        #[cfg(feature = "definition")]
        impl crate::builder::FlowBuilder {
            $(
                $(#[doc = $doc])+
                #[doc = concat!("\n\nFrom `", stringify!($range), "`; `", stringify!($default), "` when not given.")]
                pub fn $name(mut self, value: $Given) -> Self {
                    self.draft.options.$field = value.into_number();
                    self
                }
            )+
        }
    };
}

/// Makes `StepOptions` and the methods of `StepBuilder`.
macro_rules! step_options {
    ($(
        $(#[doc = $doc:literal])+
        $Option:ident: $name:ident($Given:ty) as $field:ident, $range:expr, default $default:expr;
    )+) => {
        impl NumberOption {
            /// The options that a step takes, in the order in which messages list them: all options with a number.
            pub const OF_STEPS: &'static [Self] = &[$(Self::$Option),+];
        }

        /// A step's own numbers. Where a number is absent, the flow's number applies, else the default.
        #[cfg(feature = "definition")]
        #[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct StepOptions {
            $($(#[doc = $doc])+ #[serde(skip_serializing_if = "Option::is_none")] pub $field: Option<u64>,)+
        }

        #[cfg(feature = "definition")]
        impl StepOptions {
            /// The options that the step gives itself, with their values.
            pub fn numbers(&self) -> impl Iterator<Item = (NumberOption, u64)> {
                let given = [$((NumberOption::$Option, self.$field)),+].into_iter();
                given.filter_map(|(option, value)| Some((option, value?)))
            }
        }

        #[cfg(feature = "definition")]
        impl crate::builder::StepBuilder {
            $(
                $(#[doc = $doc])+
                #[doc = concat!("\n\nFrom `", stringify!($range), "`; the flow's, or `", stringify!($default), "`, when not given.")]
                pub fn $name(mut self, value: $Given) -> Self {
                    self.draft.options.$field = Some(value.into_number());
                    self
                }
            )+
        }
    };
}
