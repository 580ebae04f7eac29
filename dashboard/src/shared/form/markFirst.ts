/** Gives the focus to the input with the path when the dialog of the form opens. Dialogs focus the marked input. */
export function markFirst(form: HTMLFormElement | null, path: string | undefined) {
  if (!form || !path) return;
  const input = form.querySelector(`[data-path="${path}"]`);
  if (!input) return;
  const folded = input.closest('details');
  if (folded) folded.open = true;
  form.querySelector('[data-autofocus]')?.removeAttribute('data-autofocus');
  input.setAttribute('data-autofocus', '');
}
