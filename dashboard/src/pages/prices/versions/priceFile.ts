import { formatJson, jsonError, withMember } from '../../../format/json';
import { formatInteger } from '../../../format/locale';
import { texts } from '../../../texts';

const words = texts.prices.editor;

/** A name for a file that has nothing yet. */
const EXAMPLE = 'gpt-5.5*';

/** Refused by the server until somebody fills it in, so that no request costs what an example says. */
const TO_FILL_IN = '{"input_mtok":"…","output_mtok":"…"}';

/** The text with which an edit of a file begins: with the price of a model to fill in, if one is given. */
export function editedFile(file: string, model: string): string {
  const isEmpty = formatJson(file) === '{}';
  if (!model && !isEmpty) return formatJson(file);
  return withMember(file, ['models'], model || EXAMPLE, TO_FILL_IN);
}

/** Why a text cannot be sent as a file. */
export function fileError(text: string): string | undefined {
  const error = jsonError(text);
  if (!error) return undefined;
  return error.line === undefined ? words.notJson : words.notJsonAt(formatInteger(error.line));
}
