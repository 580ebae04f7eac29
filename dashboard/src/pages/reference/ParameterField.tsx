import { TextInput } from '@mantine/core';
import type { Parameter } from '../../api/apiDocument';
import { texts } from '../../texts';
import { InlineCode } from './InlineCode';
import classes from './ReferencePage.module.css';

const words = texts.reference;

interface Props {
  parameter: Parameter;
  /** As in code. */
  type: string;
  isMissing: boolean;
  value: string;
  onChange: (value: string) => void;
}

/** A parameter: what it means, and what is sent. */
export function ParameterField({ parameter, type, isMissing, value, onChange }: Props) {
  return (
    <TextInput
      label={
        <>
          <span className={classes.name}>{parameter.name}</span>
          <span className={classes.type}>
            {words.places[parameter.in]} · {type}
          </span>
        </>
      }
      description={
        parameter.description && (
          <span lang="en">
            <InlineCode>{parameter.description}</InlineCode>
          </span>
        )
      }
      required={parameter.required}
      error={isMissing && words.tryIt.missing}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
