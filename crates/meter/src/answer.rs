//! Finds the counts in what a provider sent.

use crate::json_value::JsonValue;
use crate::value_path::{Step, ValuePath, WrongType, find, path_text};

/// An answer in which the root was found.
pub struct Answer<'j> {
    /// The answer, or a part of it.
    value: &'j JsonValue,
    /// The steps from the answer to this part.
    skipped: &'j [Step],
    root: &'j ValuePath,
    /// At the root.
    pub usage: &'j JsonValue,
}

impl<'j> Answer<'j> {
    /// The event, its `response`, its `message`, its `x_groq` (Groq's last event) or its first choice (Moonshot's):
    /// what has the root.
    ///
    /// # Errors
    /// See [`WrongType`].
    pub fn in_event(event: &'j JsonValue, root: &'j ValuePath) -> Result<Option<Self>, WrongType> {
        let member = |name: &str| {
            let JsonValue::Object(members) = event else { return None };
            members.get(name).filter(|member| matches!(member, JsonValue::Object(_)))
        };
        let places = [Some(event), member("response"), member("message"), member("x_groq"), first_choice(event)];
        for value in places.into_iter().flatten() {
            if let Some(answer) = Self::at(value, root, 0)? {
                return Ok(Some(answer));
            }
        }
        Ok(None)
    }

    /// A part of an answer on the way to the root, or the object at the root itself.
    ///
    /// # Errors
    /// See [`WrongType`].
    pub fn in_part(part: &'j JsonValue, root: &'j ValuePath) -> Result<Option<Self>, WrongType> {
        for skipped in 1..=root.steps().len() {
            if let Some(answer) = Self::at(part, root, skipped)? {
                return Ok(Some(answer));
            }
        }
        Ok(None)
    }

    fn at(value: &'j JsonValue, root: &'j ValuePath, skipped: usize) -> Result<Option<Self>, WrongType> {
        let (skipped, steps) = root.steps().split_at(skipped);
        match find(steps, value)? {
            Some(usage @ JsonValue::Object(_)) => Ok(Some(Self { value, skipped, root, usage })),
            Some(_) => Err(WrongType { path: path_text(steps), expected: "an object" }),
            None => Ok(None),
        }
    }

    /// The value at a path from the root.
    ///
    /// # Errors
    /// See [`WrongType`].
    pub fn root_value(&self, path: &ValuePath) -> Result<Option<&'j JsonValue>, WrongType> {
        find(path.steps(), self.usage)
            .map_err(|error| WrongType { path: format!("{}.{}", self.root, error.path), ..error })
    }

    /// The value at a path from the answer, if it is in this part.
    ///
    /// # Errors
    /// See [`WrongType`].
    pub fn answer_value(&self, path: &ValuePath) -> Result<Option<&'j JsonValue>, WrongType> {
        path.steps().strip_prefix(self.skipped).map_or(Ok(None), |steps| find(steps, self.value))
    }
}

fn first_choice(event: &JsonValue) -> Option<&JsonValue> {
    let JsonValue::Object(members) = event else { return None };
    let Some(JsonValue::List(choices)) = members.get("choices") else { return None };
    choices.first().filter(|choice| matches!(choice, JsonValue::Object(_)))
}
