import { Anchor, Button, Paper, Skeleton } from '@mantine/core';
import { IconArrowLeft, IconDownload } from '@tabler/icons-react';
import { useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import { type ApiDocument, useApiDocument } from '../../api/apiDocument';
import { joined } from '../../format/space';
import { EmptyState } from '../../shared/EmptyState';
import { FailureState } from '../../shared/FailureState';
import { PageHeader } from '../../shared/PageHeader';
import { useDocumentTitle } from '../../shared/useDocumentTitle';
import { texts } from '../../texts';
import { GettingStarted } from './GettingStarted';
import { OperationDetails } from './OperationDetails';
import { OperationList } from './OperationList';
import { operationsOf } from './operations';
import classes from './ReferencePage.module.css';

const words = texts.reference;

/** The operations of the running server, from its OpenAPI document. */
export default function ReferencePage() {
  const { data: document, error, refetch } = useApiDocument();
  return (
    <>
      <PageHeader
        title={words.title}
        description={joined(words.description, words.inEnglish)}
        actions={
          <Button
            component="a"
            href="/api/openapi.json"
            download
            variant="default"
            leftSection={<IconDownload size={18} stroke={1.6} />}
          >
            {words.document}
          </Button>
        }
      />
      {document ? (
        <Reference document={document} />
      ) : error ? (
        <Paper>
          <FailureState error={error} onRetry={refetch} />
        </Paper>
      ) : (
        <Skeleton h={480} radius="lg" />
      )}
    </>
  );
}

function Reference({ document }: { document: ApiDocument }) {
  const [search] = useSearchParams();
  const [keyword, setKeyword] = useState('');
  const operations = operationsOf(document);
  const id = search.get('operation');
  const chosen = operations.find((operation) => operation.id === id);
  useDocumentTitle(chosen ? `${chosen.method} ${chosen.path} · ${words.title}` : words.title);
  return (
    <div className={classes.wide}>
      <div className={classes.panes}>
        <Paper
          component="nav"
          className={classes.list}
          aria-label={words.operations}
          data-chosen={id !== null || undefined}
        >
          <OperationList
            operations={operations}
            chosen={chosen?.id}
            keyword={keyword}
            onSearch={setKeyword}
          />
        </Paper>
        {id === null ? (
          <div className={classes.start}>
            <GettingStarted document={document} />
          </div>
        ) : (
          <div>
            <Anchor component={Link} href="/reference" size="sm" className={classes.back}>
              <IconArrowLeft size={16} /> {words.allOperations}
            </Anchor>
            {chosen ? (
              // What was typed and answered belongs to one operation, and is forgotten with it.
              <OperationDetails key={chosen.id} operation={chosen} document={document} />
            ) : (
              <Paper>
                <EmptyState title={words.noSuchOperation} />
              </Paper>
            )}
          </div>
        )}
      </div>
    </div>
  );
}
