import { Anchor, CloseButton, Group, Paper, Text, Title, Tooltip, VisuallyHidden } from '@mantine/core';
import { IconCheck, IconChevronRight } from '@tabler/icons-react';
import { Link } from 'wouter';
import { formatInteger } from '../../format/locale';
import { texts } from '../../texts';
import classes from './Checklist.module.css';
import type { Step } from './steps';

const words = texts.onboarding;

export interface StepTexts {
  title: string;
  hint: string;
}

interface Props<Name extends string> {
  title: string;
  steps: Step<Name>[];
  texts: Record<Name, StepTexts>;
  /** Where a step is done. */
  actions: Partial<Record<Name, { label: string; href: string }>>;
  className?: string;
  onDismiss: () => void;
}

/** Steps with their state. Only steps that are not done have an action. */
export function Checklist<Name extends string>(props: Props<Name>) {
  const { title, steps, texts: stepTexts, actions, className, onDismiss } = props;
  const done = steps.filter((step) => step.done).length;
  return (
    <Paper component="section" p="lg" className={className} aria-label={title}>
      <Group justify="space-between" wrap="nowrap" align="flex-start" mb="xs">
        <div>
          <Title order={2}>{title}</Title>
          <Text size="sm" c="dimmed">
            {words.progress(formatInteger(done), formatInteger(steps.length))}
          </Text>
        </div>
        <Tooltip label={words.dismiss}>
          <CloseButton aria-label={words.dismiss} onClick={onDismiss} />
        </Tooltip>
      </Group>
      <ol className={classes.steps}>
        {steps.map((step, index) => {
          const action = step.done ? undefined : actions[step.name];
          return (
            <li key={step.name} className={classes.step} data-done={step.done || undefined}>
              <span className={classes.mark} aria-hidden>
                {step.done ? <IconCheck size={16} stroke={2.4} /> : formatInteger(index + 1)}
              </span>
              <div className={classes.words}>
                <div>
                  <div className={classes.title}>
                    {stepTexts[step.name].title}
                    {step.done && <VisuallyHidden> {words.done}</VisuallyHidden>}
                  </div>
                  <Text size="sm" c="dimmed">
                    {stepTexts[step.name].hint}
                  </Text>
                </div>
                {action && (
                  <Anchor component={Link} href={action.href} size="sm" className={classes.action}>
                    {action.label} <IconChevronRight size={16} />
                  </Anchor>
                )}
              </div>
            </li>
          );
        })}
      </ol>
    </Paper>
  );
}
