import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { NO_LIMIT, type RateLimits, rates } from '../../api/limits';
import type { TokenFieldName } from '../../api/tokenChanges';
import type { Token } from '../../api/tokens';
import { isStopped } from '../../format/forecast';
import { formatList } from '../../format/list';
import { formatInteger } from '../../format/locale';
import { Fact, Facts } from '../../shared/Facts';
import { PeriodBars } from '../../shared/limits/PeriodBars';
import { limitedPeriods } from '../../shared/limits/periodBar';
import { QuotaBar } from '../../shared/QuotaBar';
import { Section } from '../../shared/Section';
import { ForecastLines } from '../../shared/usage/ForecastLines';
import { useScrollRegion } from '../../shared/useScrollRegion';
import { When } from '../../shared/When';
import { texts } from '../../texts';
import { AUTO, groupName } from '../keys/groupName';
import classes from './KeyFacts.module.css';

const words = texts.key.facts;
const { fields } = texts.keys;

/** Booleans that are part of another fact. */
const parts: TokenFieldName[] = ['unlimited_quota', 'model_limits_enabled', 'cross_group_retry'];
const others = (Object.keys(fields) as TokenFieldName[]).filter((name) => !parts.includes(name));

interface Props {
  token: Token;
  /** The masked key, and what can be done with it. */
  maskedKey: ReactNode;
  /** On pages for others than the owner. */
  owner?: ReactNode;
}

export function KeyFacts({ token, maskedKey, owner }: Props) {
  const used = token.used_quota > 0;
  return (
    <Section title={words.title}>
      <Facts>
        <Fact name={words.key} span={owner ? 'half' : 'whole'}>
          {maskedKey}
        </Fact>
        {owner && (
          <Fact name={words.owner} span="half">
            {owner}
          </Fact>
        )}
        <Fact name={fields.remain_quota.label} span="half">
          <QuotaBar used={token.used_quota} remain={token.remain_quota} unlimited={token.unlimited_quota} />
          <ForecastLines
            scope={owner ? 'allUsers' : 'own'}
            tokenId={token.id}
            usage={token.period_usage}
            isStopped={isStopped(token.state)}
          />
        </Fact>
        {limitedPeriods(token.period_usage).length > 0 && (
          <Fact name={fields.period_limits.label} span="half">
            <PeriodBars usage={token.period_usage} of="key" />
          </Fact>
        )}
        <Fact name={fields.expired_time.label}>
          <When seconds={token.expired_time} never={texts.common.never} />
        </Fact>
        <Fact name={words.lastUsed}>
          <When seconds={used ? token.accessed_time : 0} never={texts.keys.notYet} />
        </Fact>
        <Fact name={words.created}>
          <When seconds={token.created_time} never="" />
        </Fact>
        <Fact name={fields.group.label}>
          {owner && token.group === '' ? words.ownersGroup : groupName(token.group)}
          {token.group === AUTO && (
            <Text size="sm" c="dimmed">
              {token.cross_group_retry ? words.retry : words.noRetry}
            </Text>
          )}
        </Fact>
        <Fact name={fields.model_limits.label}>{models(token)}</Fact>
        <Fact name={fields.allow_ips.label}>
          {token.allow_ips === '' ? (
            words.everywhere
          ) : (
            <Lines label={fields.allow_ips.label} text={token.allow_ips} monospace />
          )}
        </Fact>
        <RateFact limits={token.rate_limits} />
        {others.map(
          (name) =>
            typeof token[name] === 'boolean' && (
              <Fact key={name} name={fields[name].label}>
                {token[name] ? words.on : words.off}
              </Fact>
            ),
        )}
        {token.note !== '' && (
          <Fact name={fields.note.label} span="whole">
            <Lines label={fields.note.label} text={token.note} />
          </Fact>
        )}
      </Facts>
    </Section>
  );
}

function RateFact({ limits }: { limits: RateLimits }) {
  const limited = rates.filter((rate) => limits[rate] !== NO_LIMIT);
  if (limited.length === 0) return null;
  return (
    <Fact name={fields.rate_limits.label} span="half">
      {limited.map((rate) => (
        <div key={rate}>{texts.limits.rateFacts[rate](formatInteger(limits[rate]))}</div>
      ))}
      <Text size="sm" c="dimmed">
        {texts.limits.rateRefusals}
      </Text>
    </Fact>
  );
}

interface LinesProps {
  label: string;
  text: string;
  monospace?: boolean;
}

/** Text with line breaks. It scrolls when it is long. */
function Lines({ label, text, monospace }: LinesProps) {
  const scrollRegion = useScrollRegion<HTMLParagraphElement>(label);
  return (
    <Text ff={monospace ? 'monospace' : undefined} size="sm" className={classes.lines} {...scrollRegion}>
      {text}
    </Text>
  );
}

function models({ model_limits_enabled, model_limits }: Token): string {
  if (!model_limits_enabled) return words.allModels;
  return model_limits === '' ? words.noModels : formatList(model_limits.split(','));
}
