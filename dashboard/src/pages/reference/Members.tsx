import { texts } from '../../texts';
import { InlineCode } from './InlineCode';
import type { Member } from './members';
import classes from './ReferencePage.module.css';

const words = texts.reference;

interface Props {
  members: Member[];
  /** In an answer all members are there unless they say otherwise. */
  inAnswer?: boolean;
}

/** The members of a JSON object, with their own members below them. */
export function Members({ members, inAnswer = false }: Props) {
  return (
    <ul className={classes.members}>
      {members.map(({ name, type, required, description, values, members: inner }) => (
        <li key={name} className={classes.member}>
          <span className={classes.name}>{name}</span>
          <span className={classes.type}>{type}</span>
          {required && !inAnswer && <span className={classes.required}>{words.required}</span>}
          {description && (
            <div className={classes.hint} lang="en">
              <InlineCode>{description}</InlineCode>
            </div>
          )}
          {values.length > 0 && (
            <div className={classes.hint}>
              <InlineCode>{words.values(values.map((value) => `\`${value}\``).join(', '))}</InlineCode>
            </div>
          )}
          {inner.length > 0 && <Members members={inner} inAnswer={inAnswer} />}
        </li>
      ))}
    </ul>
  );
}
