import { Anchor, Text } from '@mantine/core';
import { spaceBetween } from '../../format/space';
import { texts } from '../../texts';
import { contactHref } from './contactHref';

/** The contact that the operator configured. */
export function Contact({ contact }: { contact: string }) {
  if (!contact) return null;
  const href = contactHref(contact);
  return (
    <Text size="sm" c="dimmed">
      {texts.enablement.contact}
      {spaceBetween(texts.enablement.contact, contact)}
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
