import { Button } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';

/** Downloads a report as CSV. */
export function CsvButton({ href, label }: { href: string; label: string }) {
  return (
    <Button
      component="a"
      href={href}
      download
      variant="default"
      leftSection={<IconDownload size={18} stroke={1.6} />}
    >
      {label}
    </Button>
  );
}
