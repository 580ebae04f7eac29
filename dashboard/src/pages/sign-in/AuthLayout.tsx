import { Alert, Anchor, Group, Paper, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { spaceBetween } from '../../format/space';
import { useDocumentTitle } from '../../shared/useDocumentTitle';
import { ColorSchemeMenu } from '../../shell/ColorSchemeMenu';
import { LanguageMenu } from '../../shell/LanguageMenu';
import { texts } from '../../texts';
import logo from '../../theme/logo.svg';
import classes from './AuthLayout.module.css';

interface Props {
  title: string;
  /** The error message. */
  failure?: ReactNode;
  other?: { question: string; label: string; href: string };
  children: ReactNode;
}

/** The layout of the sign-in and registration pages. */
export function AuthLayout({ title, failure, other, children }: Props) {
  useDocumentTitle(title);
  return (
    <main className={classes.page}>
      <Stack align="center" gap={4} mb="xl">
        <img src={logo} alt="" width={48} height={48} />
        <Text fw={650} fz="xl" mt="xs">
          {texts.common.appName}
        </Text>
        <Text c="dimmed">{texts.signIn.tagline}</Text>
      </Stack>
      <Paper className={classes.card} p="xl">
        <Title order={1} size="h2" mb="lg">
          {title}
        </Title>
        {failure && (
          <Alert color="red" variant="default" role="alert" mb="md" className={classes.failure}>
            {failure}
          </Alert>
        )}
        {children}
      </Paper>
      {other && (
        <Text size="sm" mt="lg">
          {other.question}
          {spaceBetween(other.question, other.label)}
          <Anchor component={Link} href={other.href} inherit underline="always">
            {other.label}
          </Anchor>
        </Text>
      )}
      <Group gap="xs" mt="lg">
        <LanguageMenu />
        <ColorSchemeMenu />
      </Group>
    </main>
  );
}
