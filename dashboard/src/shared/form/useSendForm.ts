import { type FormErrors, useForm } from '@mantine/form';
import { type FormEvent, useContext, useEffect, useRef } from 'react';
import { DiscardContext } from './discard';
import { useEndOfOutage } from './useEndOfOutage';

interface Options<Values> {
  initialValues: Values;
  /**
   * The errors by field, in the order of the form. `submitted` is false until the first submission: what is still missing
   * is no error before.
   */
  validate?: (values: Values, submitted: boolean) => FormErrors;
  /** What `send` calls. */
  mutation: { isPending: boolean; error: Error | null; reset: () => void };
  /** The text of a failure at the field it is about, until a change. All others are shown above the buttons. */
  refusals?: (failure: Error, values: Values) => FormErrors;
  /** Called with valid values. */
  send: (values: Values) => void;
}

/** The values and errors of a form that a request sends. `SendForm` shows it. */
export function useSendForm<Values extends object>(options: Options<Values>) {
  const { initialValues, validate = noErrors, mutation, refusals = noErrors, send } = options;
  const submitted = useRef(false);
  useEndOfOutage(mutation);
  const refusedIn = (values: Values) => (mutation.error ? refusals(mutation.error, values) : {});

  const form = useForm<Values>({
    initialValues,
    validate: (values) => validate(values, true),
    // A change checks all fields, because some depend on others.
    clearInputErrorOnChange: false,
    onValuesChange: (values) => {
      form.setErrors(validate(values, submitted.current));
      if (options.refusals && mutation.error) mutation.reset();
    },
    enhanceGetInputProps: ({ inputProps, field, form: { values } }) => ({
      error: inputProps.error ?? refusedIn(values)[field],
    }),
  });

  const watch = useContext(DiscardContext)?.watch;
  const { isDirty } = form;
  useEffect(() => watch?.(isDirty), [watch, isDirty]);

  const [refusedField] = Object.keys(refusedIn(form.values));
  useEffect(() => {
    if (refusedField) focusInput(refusedField);
  }, [refusedField]);

  function onSubmit(event: FormEvent<HTMLFormElement>) {
    submitted.current = true;
    form.onSubmit(send, (errors) => focusInput(Object.keys(errors)[0]))(event);
  }

  /** Empties the form after it was sent. */
  function reset() {
    submitted.current = false;
    form.reset();
  }

  const failure = refusedField ? null : mutation.error;
  return { form, onSubmit, reset, isPending: mutation.isPending, failure };
}

function noErrors(): FormErrors {
  return {};
}

/** `getInputProps` marks inputs with their paths. */
function focusInput(path: string | undefined) {
  const input = document.querySelector<HTMLElement>(`[data-path="${path}"]`);
  const folded = input?.closest('details');
  if (folded) folded.open = true;
  input?.focus();
}
