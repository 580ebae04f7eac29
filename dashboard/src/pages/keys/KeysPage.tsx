import { Button, Group, Paper } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { type Ref, useEffect, useRef, useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import { limits } from '../../api/serverLimits';
import { DataTable } from '../../shared/DataTable';
import { FailureState } from '../../shared/FailureState';
import { SortSelect } from '../../shared/ListingFields';
import { PageHeader } from '../../shared/PageHeader';
import { Pager } from '../../shared/Pager';
import { OtherLists } from '../../shared/search/OtherLists';
import { SelectAll } from '../../shared/selection/selectColumn';
import { useSelection } from '../../shared/selection/useSelection';
import type { TokenSorting } from '../../shared/tokenColumns';
import { useLoaded } from '../../shared/useLoaded';
import { usePageSize } from '../../shared/usePageSize';
import { texts } from '../../texts';
import { useKeyActions } from './actions/useKeyActions';
import { KeyFormDrawer } from './form/KeyFormDrawer';
import { KeysToolbar } from './KeysToolbar';
import { keyColumns } from './keyColumns';
import { NoKeys } from './NoKeys';
import { PAGE_SIZES, useKeyList } from './useKeyList';
import { useKeysView } from './useKeysView';

const words = texts.keys;

/** Most visits select nothing. */
const loadBar = () => import('./SelectionBar');

export default function KeysPage() {
  const [view, changeView] = useKeysView();
  const [pageSize, setPageSize] = usePageSize('keymeter-keys-per-page', PAGE_SIZES);
  const keys = useKeyList(view, pageSize);
  const { filter, total, isOutdated } = keys;
  const canSelectAll = filter !== undefined && total <= limits.listed_tokens;
  const matching = canSelectAll ? { key: JSON.stringify(filter), total, isOutdated } : undefined;
  const selection = useSelection(keys.rows ?? [], matching);
  const { SelectionBar } = useLoaded(loadBar, selection.count > 0) ?? {};
  const createButtonRef = useRef<HTMLButtonElement>(null);
  const { actions, dialogs } = useKeyActions({
    focusAfterDelete: createButtonRef,
    onDeleted: selection.remove,
  });
  const [creating, setCreating] = useCreateParam();

  // A deletion can remove the last page.
  const lastPage = Math.max(0, Math.ceil(keys.total / pageSize) - 1);
  const isPageOutOfRange = keys.rows !== undefined && view.page > lastPage;
  useEffect(() => {
    if (isPageOutOfRange) changeView({ page: lastPage }, { replace: true });
  });

  function choosePageSize(size: number) {
    // The page that begins with what is shown.
    changeView({ page: Math.floor((view.page * pageSize) / size) }, { replace: true });
    setPageSize(size);
  }

  const order: TokenSorting = {
    sorting: view.sorting,
    onSort: (sorting) => changeView({ sorting }),
  };
  const filtered = view.q !== '' || view.state !== undefined || view.group !== undefined;
  return (
    <>
      <PageHeader
        title={words.title}
        description={words.description}
        actions={
          <>
            <CreateButton ref={createButtonRef} onClick={() => setCreating(true)} />
            <Button
              component={Link}
              href="/keys/deleted"
              variant="default"
              leftSection={<IconTrash size={18} stroke={1.6} />}
            >
              {texts.deletedKeys.title}
            </Button>
          </>
        }
      />
      {keys.error ? (
        <Paper>
          <FailureState error={keys.error} onRetry={keys.retry} />
        </Paper>
      ) : (
        <>
          <KeysToolbar view={view} onChange={changeView} keys={keys} />
          <OtherLists current="own" text={view.q} />
          <DataTable
            label={words.table}
            columns={keyColumns(actions, selection, order)}
            rows={keys.rows}
            rowKey={(token) => token.id}
            rowHref={(token) => `/keys/${token.id}`}
            cardsHeader={
              <Group px="md" mb="sm" justify="space-between">
                <SelectAll selection={selection} label={words.select.page} />
                <SortSelect {...order} />
              </Group>
            }
            empty={
              <NoKeys
                filtered={filtered}
                onShowAll={() => changeView({ q: '', state: undefined, group: undefined })}
                createButton={<CreateButton onClick={() => setCreating(true)} />}
              />
            }
          />
          <Pager
            page={view.page}
            pageSize={pageSize}
            total={keys.total}
            onChange={(page) => changeView({ page })}
            sizes={{ choices: PAGE_SIZES, onChoose: choosePageSize }}
          />
        </>
      )}
      {SelectionBar && <SelectionBar selection={selection} filter={filter} actions={actions} />}
      {dialogs}
      <KeyFormDrawer
        opened={creating}
        onCreated={(token) => actions.showNew(token, createButtonRef.current)}
        onClose={() => setCreating(false)}
      />
    </>
  );
}

/** Whether the form is open. Other pages open it with a link to `?create`, which a reload must not repeat. */
function useCreateParam() {
  const [params, setParams] = useSearchParams();
  const [creating, setCreating] = useState(false);
  const wanted = params.has('create');
  useEffect(() => {
    if (!wanted) return;
    setCreating(true);
    setParams(
      (current) => {
        const rest = new URLSearchParams(current);
        rest.delete('create');
        return rest;
      },
      { replace: true },
    );
  }, [wanted, setParams]);
  return [creating, setCreating] as const;
}

function CreateButton({ ref, onClick }: { ref?: Ref<HTMLButtonElement>; onClick: () => void }) {
  return (
    <Button ref={ref} leftSection={<IconPlus size={18} />} onClick={onClick}>
      {words.create}
    </Button>
  );
}
