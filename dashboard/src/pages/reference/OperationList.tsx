import { Link } from 'wouter';
import { EmptyState } from '../../shared/EmptyState';
import { SearchInput } from '../../shared/SearchInput';
import { texts } from '../../texts';
import { textOf } from '../../texts/textOf';
import { InlineCode } from './InlineCode';
import { Method } from './Method';
import { groupByTag, matching, type Operation } from './operations';
import classes from './ReferencePage.module.css';

const words = texts.reference;

interface Props {
  operations: Operation[];
  chosen?: string;
  keyword: string;
  onSearch: (keyword: string) => void;
}

/** All operations by resource, or those that match the search. */
export function OperationList({ operations, chosen, keyword, onSearch }: Props) {
  const groups = groupByTag(matching(operations, keyword));
  return (
    <>
      <div className={classes.search}>
        <SearchInput label={words.search} value={keyword} onChange={onSearch} fullWidth />
      </div>
      <div className={classes.groups}>
        {groups.length === 0 && <EmptyState {...words.noMatches} />}
        {groups.map(({ tag, operations: members }) => (
          <section key={tag} aria-labelledby={`tag-${tag}`}>
            <h2 className={classes.tag} id={`tag-${tag}`}>
              {titleOf(tag)}
            </h2>
            <ul className={classes.group}>
              {members.map((operation) => (
                <li key={operation.id}>
                  <Entry operation={operation} active={operation.id === chosen} />
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </>
  );
}

function Entry({
  operation: { id, method, path, summary },
  active,
}: {
  operation: Operation;
  active: boolean;
}) {
  return (
    <Link
      href={`/reference?operation=${encodeURIComponent(id)}`}
      className={classes.entry}
      aria-current={active ? 'page' : undefined}
    >
      <span>
        <Method>{method}</Method>
        <span className={classes.path}>{path}</span>
      </span>
      <span className={classes.summary}>
        <InlineCode>{summary}</InlineCode>
      </span>
    </Link>
  );
}

/** The name of a group. A tag that the texts do not know is shown as it is. */
function titleOf(tag: string): string {
  return textOf(words.groups, tag) ?? tag;
}
