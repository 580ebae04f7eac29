import { Button, Menu } from '@mantine/core';
import { IconChevronDown, IconDownload } from '@tabler/icons-react';
import { texts } from '../../texts';

interface Props {
  files: { href: string; label: string }[];
}

/** Downloads one of a few reports as CSV. The server names the file. */
export function ExportMenu({ files }: Props) {
  return (
    <Menu position="bottom-end" withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <Button
          variant="default"
          leftSection={<IconDownload size={18} stroke={1.6} />}
          rightSection={<IconChevronDown size={16} stroke={1.6} />}
        >
          {texts.usage.csv.menu}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {files.map(({ href, label }) => (
          <Menu.Item key={href} component="a" href={href} download>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
