import { Button, FileButton, Group, Input, SegmentedControl, Textarea } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { IconFileTypeCsv } from '@tabler/icons-react';
import type { DragEvent } from 'react';
import { notifyFailure } from '../../../../shared/notify';
import { texts } from '../../../../texts';
import type { BulkForm } from './bulkForm';
import { readFile } from './readFile';

const words = texts.adminBulk;
const sources: BulkForm['source'][] = ['names', 'csv'];

/** Whom to change: names that were pasted, or a file. */
export function WhoFields({ form }: { form: UseFormReturnType<BulkForm> }) {
  const { source } = form.values;

  async function read(file: File | null | undefined) {
    if (!file) return;
    try {
      form.setValues({ source: 'csv', csv: await readFile(file) });
    } catch (error) {
      notifyFailure(error as Error);
    }
  }

  function drop(event: DragEvent) {
    const [file] = event.dataTransfer.files;
    if (!file) return;
    event.preventDefault();
    read(file);
  }

  const area = {
    autosize: true,
    minRows: 4,
    maxRows: 10,
    autoComplete: 'off',
    spellCheck: false,
    onDragOver: (event: DragEvent) => event.preventDefault(),
    onDrop: drop,
    inputWrapperOrder: ['label', 'description', 'input', 'error'] as [
      'label',
      'description',
      'input',
      'error',
    ],
  };
  return (
    <>
      <Input.Wrapper label={words.source} labelElement="div">
        <SegmentedControl
          fullWidth
          aria-label={words.source}
          data={sources.map((value) => ({ value, label: words.sources[value] }))}
          value={source}
          onChange={(chosen) => form.setFieldValue('source', chosen)}
        />
      </Input.Wrapper>
      {source === 'names' ? (
        <Textarea
          key="names"
          label={words.names}
          description={words.namesHint}
          data-autofocus
          {...area}
          {...form.getInputProps('names')}
        />
      ) : (
        <>
          <Textarea
            key="csv"
            label={words.csv}
            description={words.csvHint}
            {...area}
            {...form.getInputProps('csv')}
          />
          <Group>
            <FileButton accept=".csv,text/csv" onChange={read}>
              {(props) => (
                <Button {...props} variant="default" leftSection={<IconFileTypeCsv size={18} stroke={1.6} />}>
                  {words.chooseFile}
                </Button>
              )}
            </FileButton>
          </Group>
        </>
      )}
    </>
  );
}
