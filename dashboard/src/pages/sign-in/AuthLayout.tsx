import { Alert, Anchor, Box, Group, Paper, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useStatus } from '../../api/status';
import { spaceBetween } from '../../format/space';
import { Contact } from '../../shared/Contact';
import { useBrand } from '../../shared/useBrand';
import { useDocumentTitle } from '../../shared/useDocumentTitle';
import { BrandLogo } from '../../shell/BrandLogo';
import { ColorSchemeMenu } from '../../shell/ColorSchemeMenu';
import { LanguageMenu } from '../../shell/LanguageMenu';
import { texts } from '../../texts';
import classes from './AuthLayout.module.css';

interface Props {
  title: string;
  /** The error message. */
  failure?: ReactNode;
  other?: { question: string; label: string; href: string };
  /** What the contact is asked. */
  question: string;
  children: ReactNode;
}

/** The layout of the sign-in and registration pages. */
export function AuthLayout({ title, failure, other, question, children }: Props) {
  useDocumentTitle(title);
  const brand = useBrand();
  const contact = useStatus().data?.contact;
  return (
    <main className={classes.page}>
      <Stack align="center" gap={4} mb="xl">
        <BrandLogo brand={brand} size={48} />
        {/* Screen readers read the alternative text of the logo instead. */}
        <Text
          className={classes.name}
          fw={650}
          fz="xl"
          mt="xs"
          aria-hidden={Boolean(brand?.logo) || undefined}
        >
          {brand?.name}
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
      {contact && (
        <Box className={classes.contact} mt="xs">
          <Contact question={question} contact={contact} />
        </Box>
      )}
      <Group gap="xs" mt="lg">
        <LanguageMenu />
        <ColorSchemeMenu />
      </Group>
    </main>
  );
}
