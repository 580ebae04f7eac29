import { Input, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { type PriceFile, useSetPrices } from '../../../api/adminPrices';
import { hasCode } from '../../../api/error';
import { formatJson } from '../../../format/json';
import { CodeExample } from '../../../shared/CodeExample';
import { atField } from '../../../shared/form/atField';
import { SendForm } from '../../../shared/form/SendForm';
import { useSendForm } from '../../../shared/form/useSendForm';
import { notifySuccess } from '../../../shared/notify';
import { texts } from '../../../texts';
import { editedFile, fileError } from './priceFile';

const words = texts.prices.editor;

interface Props {
  /** With which the form begins. */
  file: PriceFile;
  model: string;
  readFile: () => Promise<{ data?: PriceFile }>;
  onClose: () => void;
}

/**
 * The file of one's own prices as text. If somebody else set other prices meanwhile, it shows them; saving again
 * replaces them.
 */
export function PriceForm({ file, model, readFile, onClose }: Props) {
  const set = useSetPrices();
  const [first] = useState(file);
  const [theirs, setTheirs] = useState<PriceFile>();
  const needsAcceptance = hasCode(set.error, 'prices_need_acceptance');
  const { form, ...sending } = useSendForm({
    initialValues: { file: editedFile(first.text, model), note: '' },
    validate: ({ file }, submitted) => ({ file: submitted && fileError(file) }),
    mutation: set,
    refusals: atField({ invalid_prices: 'file', invalid_text: 'note' }),
    send: ({ file, note }) => {
      const replaces = (theirs ?? first).number;
      set.mutate(
        { file, note, replaces, ...(needsAcceptance && { accept: true }) },
        { onSuccess: done, onError: compare },
      );
    },
  });

  function done({ number }: { number: number }) {
    notifySuccess(texts.prices.done(String(number)));
    onClose();
  }

  async function compare(error: Error) {
    if (hasCode(error, 'prices_changed')) setTheirs((await readFile()).data);
  }

  return (
    <SendForm
      sending={sending}
      submitLabel={needsAcceptance ? texts.prices.setAnyway : texts.common.save}
      dangerous={needsAcceptance}
      onCancel={onClose}
    >
      <Textarea
        label={words.file}
        description={words.hint}
        rows={14}
        spellCheck={false}
        autoComplete="off"
        data-autofocus
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', whiteSpace: 'pre' } }}
        {...form.getInputProps('file')}
      />
      <TextInput
        label={words.note}
        description={words.noteHint}
        autoComplete="off"
        {...form.getInputProps('note')}
      />
      <Input.Description>{words.command}</Input.Description>
      {theirs && (
        <CodeExample
          title={words.theirs(String(theirs.number))}
          code={formatJson(theirs.text)}
          copyLabel={words.copyTheirs}
        />
      )}
    </SendForm>
  );
}
