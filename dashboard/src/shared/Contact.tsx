import { Anchor, Text } from '@mantine/core';
import { spaceBetween } from '../format/space';
import { contactHref } from './contactHref';

interface Props {
  /** Ends with the verb whose object is the contact. */
  question: string;
  /** May be empty. */
  contact: string;
}

/** Whom to ask: the contact that the operator configured. */
export function Contact({ question, contact }: Props) {
  if (!contact) return null;
  const href = contactHref(contact);
  return (
    <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
      {question}
      {spaceBetween(question, contact)}
      {href ? (
        <Anchor href={href} inherit underline="always">
          {contact}
        </Anchor>
      ) : (
        contact
      )}
    </Text>
  );
}
