import { Text } from '@mantine/core';
import { IconChevronRight } from '@tabler/icons-react';
import { Link } from 'wouter';
import type { HeldCharges } from '../../../api/adminOverview';
import { formatRelative } from '../../../format/time';
import attention from '../../../shared/Attention.module.css';
import { ToneBadge } from '../../../shared/ToneBadge';
import { useNow } from '../../../shared/useNow';
import { texts } from '../../../texts';
import { textOf } from '../../../texts/textOf';
import { heldHref } from './heldHref';

const words = texts.adminHome.attention.held;

/** Requests to a model that were charged their holds for one reason, with a link to what ends that. */
export function HeldRow({ charges }: { charges: HeldCharges }) {
  const { model, reason, requests, last } = charges;
  const now = useNow();
  const why = textOf(words.reasons, reason) ?? words.otherReason(reason);
  return (
    <li>
      <Link href={heldHref(charges)} className={attention.key}>
        <div className={attention.words}>
          <div>
            <div className={attention.name}>{model ?? words.noModel}</div>
            <Text size="sm" c="dimmed">
              {words.sentence(requests, why, formatRelative(last, now))}
            </Text>
          </div>
          <ToneBadge tone="warn">{words.word}</ToneBadge>
        </div>
        <IconChevronRight size={18} stroke={1.6} className={attention.arrow} />
      </Link>
    </li>
  );
}
