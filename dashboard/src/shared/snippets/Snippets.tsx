import { Anchor, Code, Group, Stack, Tabs, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { isAdministrator, useUser } from '../../api/session';
import { useStatus } from '../../api/status';
import { useModels } from '../../api/tokenOptions';
import type { Token } from '../../api/tokens';
import { joined } from '../../format/space';
import { texts } from '../../texts';
import { CopyButton } from '../CopyButton';
import { readStored, writeStored } from '../storage';
import { useScrollRegion } from '../useScrollRegion';
import classes from './Snippets.module.css';
import {
  installCommand,
  KEY_PLACEHOLDER,
  modelOf,
  type SnippetCall,
  type SnippetLanguage,
  snippet,
  snippetLanguages,
} from './snippets';

const words = texts.snippets;
const STORAGE_KEY = 'keymeter-snippet-language';

interface Props {
  token: Pick<Token, 'model_limits_enabled' | 'model_limits'>;
  /** The key, only where it is shown anyway. */
  secret?: string;
  /** The example was copied, with the key in it. */
  onCopyWithSecret?: () => void;
}

/** Where programs send their requests, and a first call in several languages. */
export function Snippets({ token, secret, onCopyWithSecret }: Props) {
  const { data: status } = useStatus();
  const { data: models } = useModels();
  const [language, setLanguage] = useState(storedLanguage);
  const baseUrl = status?.api_base_url ?? '';
  const call: SnippetCall = {
    baseUrl,
    origin: window.location.origin,
    key: secret ?? KEY_PLACEHOLDER,
    model: modelOf(token, models),
  };
  const code = snippet(language, call);
  const install = installCommand(language, baseUrl);

  function choose(next: string | null) {
    const found = snippetLanguages.find((each) => each === next);
    if (!found) return;
    setLanguage(found);
    writeStored(STORAGE_KEY, found);
  }

  return (
    <Stack gap="sm">
      {baseUrl && <BaseUrl url={baseUrl} />}
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
        {joined(...notes(baseUrl, secret, install))} {!baseUrl && <GatewayHint />}
      </Text>
    </Stack>
  );
}

function storedLanguage(): SnippetLanguage {
  const stored = readStored(STORAGE_KEY);
  return snippetLanguages.find((each) => each === stored) ?? 'curl';
}

function notes(baseUrl: string, secret: string | undefined, install: string | undefined): string[] {
  const all = [];
  if (secret === undefined) all.push(words.replaceKey(KEY_PLACEHOLDER));
  if (install) all.push(words.install(install));
  if (!baseUrl) all.push(words.checksKey);
  return all;
}

function BaseUrl({ url }: { url: string }) {
  return (
    <Group gap="xs" wrap="nowrap">
      <Text size="sm" fw={500} className={classes.name}>
        {words.baseUrl}
      </Text>
      <Code className={classes.url}>{url}</Code>
      <CopyButton value={url} label={words.copyBaseUrl} />
    </Group>
  );
}

function Example({ code }: { code: string }) {
  const scrollRegion = useScrollRegion<HTMLPreElement>(words.example);
  return (
    <Code block fz="xs" {...scrollRegion}>
      {code}
    </Code>
  );
}

/** Where the address of the gateway comes from. */
function GatewayHint() {
  if (!isAdministrator(useUser())) return words.askForGateway;
  return (
    <>
      {words.setGateway}{' '}
      <Anchor component={Link} href="/admin/settings" size="sm">
        {words.toSettings}
      </Anchor>
    </>
  );
}
