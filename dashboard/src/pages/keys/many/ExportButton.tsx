import { Button } from '@mantine/core';
import type { ChosenTokens } from '../../../api/chosenTokens';
import { type Scope, useExportTokens } from '../../../api/manyTokens';
import { notifyFailure } from '../../../shared/notify';
import { saveFile } from '../../../shared/saveFile';
import { texts } from '../../../texts';

const FILE_NAME = 'keys.csv';

/** Saves the chosen keys as CSV, without their secrets. */
export function ExportButton({ scope, chosen }: { scope: Scope; chosen: ChosenTokens }) {
  const exporting = useExportTokens(scope);

  async function save() {
    try {
      saveFile(FILE_NAME, await exporting.mutateAsync(chosen));
    } catch (error) {
      notifyFailure(error as Error);
    } finally {
      exporting.reset();
    }
  }

  return (
    <Button size="xs" variant="default" loading={exporting.isPending} onClick={save}>
      {texts.keys.selection.export}
    </Button>
  );
}
