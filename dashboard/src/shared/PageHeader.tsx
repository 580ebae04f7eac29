import { Anchor, Group, Text, Title } from '@mantine/core';
import { IconArrowLeft } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import classes from './PageHeader.module.css';
import { useDocumentTitle } from './useDocumentTitle';

interface Props {
  /** Also the title of the document. */
  title: string;
  description?: ReactNode;
  /** Shown beside the title. */
  badge?: ReactNode;
  actions?: ReactNode;
  back?: { href: string; label: string };
}

export function PageHeader({ title, description, badge, actions, back }: Props) {
  useDocumentTitle(title);
  return (
    <header className={classes.header}>
      <div className={classes.words}>
        {back && (
          <Anchor component={Link} href={back.href} size="sm" className={classes.back}>
            <IconArrowLeft size={16} /> {back.label}
          </Anchor>
        )}
        <Group gap="sm">
          <Title order={1} className={classes.title}>
            {title}
          </Title>
          {badge}
        </Group>
        {description && (
          <Text c="dimmed" mt={4}>
            {description}
          </Text>
        )}
      </div>
      {actions && <Group gap="sm">{actions}</Group>}
    </header>
  );
}
