import { ActionIcon, Button, Collapse, Group, Select, SimpleGrid, TextInput, Tooltip } from '@mantine/core';
import { useDisclosure, useMediaQuery } from '@mantine/hooks';
import { IconFilter, IconFilterOff } from '@tabler/icons-react';
import type { AuditFilter } from '../../../api/adminAudit';
import { formatInteger } from '../../../format/locale';
import { useDebouncedText } from '../../../shared/useDebouncedText';
import { texts } from '../../../texts';
import { UserSelect } from '../shared/UserSelect';

const { filters: words, actions, kinds } = texts.adminAudit;
const clearButtonProps = { 'aria-label': texts.adminLists.clearSelection };

interface Props {
  filter: AuditFilter;
  onChange: (change: Partial<AuditFilter>) => void;
  onClear: () => void;
}

/** Collapsed behind a button on phones. */
export function AuditFilters({ filter, onChange, onClear }: Props) {
  const isPhone = useMediaQuery('(max-width: 48em)', undefined, { getInitialValueInEffect: false });
  const [opened, { toggle }] = useDisclosure();
  const count = Object.values(filter).filter(Boolean).length;
  return (
    <>
      {isPhone && (
        <Button
          fullWidth
          mb="md"
          variant="default"
          leftSection={<IconFilter size={18} stroke={1.6} />}
          aria-expanded={opened}
          onClick={toggle}
        >
          {count > 0 ? words.showCount(formatInteger(count)) : words.show}
        </Button>
      )}
      <Collapse expanded={!isPhone || opened}>
        <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} spacing="sm" mb="md">
          <UserSelect
            label={words.actor}
            placeholder={words.anyone}
            value={filter.actor_id}
            onChange={(actor_id) => onChange({ actor_id })}
          />
          <Select
            label={words.action}
            placeholder={words.any}
            searchable
            clearable
            clearButtonProps={clearButtonProps}
            data={optionsOf(actions, filter.action)}
            value={filter.action || null}
            onChange={(action) => onChange({ action: action ?? '' })}
          />
          <Select
            label={words.kind}
            placeholder={words.any}
            clearable
            clearButtonProps={clearButtonProps}
            data={optionsOf(kinds, filter.subject_kind)}
            value={filter.subject_kind || null}
            onChange={(subject_kind) => onChange({ subject_kind: subject_kind ?? '' })}
          />
          <SubjectId value={filter.subject_id} onChange={(subject_id) => onChange({ subject_id })} />
          <UserSelect
            label={words.owner}
            placeholder={words.anyone}
            value={filter.user_id}
            onChange={(user_id) => onChange({ user_id })}
          />
          <TextInput
            type="date"
            label={words.from}
            value={filter.from}
            onChange={(event) => onChange(withFrom(filter, event.currentTarget.value))}
          />
          <Group gap="xs" wrap="nowrap" align="flex-end">
            <TextInput
              type="date"
              label={words.to}
              flex={1}
              value={filter.to}
              onChange={(event) => onChange(withTo(filter, event.currentTarget.value))}
            />
            <Tooltip label={words.clear}>
              <ActionIcon
                variant="default"
                size={36}
                aria-label={words.clear}
                disabled={count === 0}
                onClick={onClear}
              >
                <IconFilterOff size={18} stroke={1.6} />
              </ActionIcon>
            </Tooltip>
          </Group>
        </SimpleGrid>
      </Collapse>
    </>
  );
}

/** The first day cannot be after the last, so a later one moves it. */
function withFrom({ to }: AuditFilter, from: string): Partial<AuditFilter> {
  return to !== '' && from > to ? { from, to: from } : { from };
}

function withTo({ from }: AuditFilter, to: string): Partial<AuditFilter> {
  return to !== '' && from > to ? { from: to, to } : { to };
}

/** The known values, and the selected value if it is not one of them. */
function optionsOf(known: Record<string, string>, selected: string) {
  const options = Object.entries(known).map(([value, label]) => ({ value, label }));
  return selected && !(selected in known) ? [...options, { value: selected, label: selected }] : options;
}

const isNumber = (text: string) => /^\d{0,18}$/.test(text.trim());

function SubjectId({ value, onChange }: { value: string; onChange: (id: string) => void }) {
  const { text, type } = useDebouncedText(value, (id) => onChange(id.trim()), isNumber);
  return (
    <TextInput
      label={words.id}
      placeholder={words.any}
      inputMode="numeric"
      error={isNumber(text) ? undefined : words.idError}
      value={text}
      onChange={(event) => type(event.currentTarget.value)}
    />
  );
}
