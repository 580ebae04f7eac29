import { Code, Group, Stack, Tabs, Text } from '@mantine/core';
import { useState } from 'react';
import { texts } from '../../texts';
import { CopyButton } from '../CopyButton';
import { readStored, writeStored } from '../storage';
import { useScrollRegion } from '../useScrollRegion';
import classes from './Snippets.module.css';
import { KEY_PLACEHOLDER, type SnippetLanguage, snippet, snippetLanguages } from './snippets';

const words = texts.snippets;
const STORAGE_KEY = 'keymeter-snippet-language';

interface Props {
  /** The key, only where it is shown anyway. */
  secret?: string;
  /** The example was copied, with the key in it. */
  onCopyWithSecret?: () => void;
}

/** A first call in several languages. */
export function Snippets({ secret, onCopyWithSecret }: Props) {
  const [language, setLanguage] = useState(storedLanguage);
  const code = snippet(language, { origin: window.location.origin, key: secret ?? KEY_PLACEHOLDER });

  function choose(next: string | null) {
    const found = snippetLanguages.find((each) => each === next);
    if (!found) return;
    setLanguage(found);
    writeStored(STORAGE_KEY, found);
  }

  return (
    <Stack gap="sm">
      <Tabs value={language} onChange={choose} keepMounted={false}>
        <Group justify="space-between" wrap="nowrap" className={classes.head}>
          <Tabs.List aria-label={words.languages} className={classes.tabs}>
            {snippetLanguages.map((each) => (
              <Tabs.Tab key={each} value={each}>
                {words.languageNames[each]}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          <CopyButton value={code} label={words.copy} onCopy={secret ? onCopyWithSecret : undefined} />
        </Group>
        <Tabs.Panel value={language} pt="xs">
          <Example code={code} />
        </Tabs.Panel>
      </Tabs>
      <Text size="sm" c="dimmed">
        {secret === undefined && `${words.replaceKey(KEY_PLACEHOLDER)} `}
        {words.checksKey} {words.askForGateway}
      </Text>
    </Stack>
  );
}

function storedLanguage(): SnippetLanguage {
  const stored = readStored(STORAGE_KEY);
  return snippetLanguages.find((each) => each === stored) ?? 'curl';
}

function Example({ code }: { code: string }) {
  const scrollRegion = useScrollRegion<HTMLPreElement>(words.example);
  return (
    <Code block fz="xs" {...scrollRegion}>
      {code}
    </Code>
  );
}
