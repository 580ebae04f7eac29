import { Text } from '@mantine/core';
import { Component, type ReactNode } from 'react';
import { texts } from '../texts';

interface Props<Data> {
  data: Data;
  draw: (data: Data) => ReactNode;
}

interface State {
  isBroken: boolean;
}

/** Draws a part of a page. If that fails, only this part says so: one bad value must not take the page away. */
export class Boundary<Data> extends Component<Props<Data>, State> {
  override state: State = { isBroken: false };

  static getDerivedStateFromError(): State {
    return { isBroken: true };
  }

  /** Tries again with other data. */
  override componentDidUpdate({ data }: Props<Data>) {
    if (this.state.isBroken && data !== this.props.data) this.setState({ isBroken: false });
  }

  override render() {
    if (this.state.isBroken) {
      return (
        <Text span inherit c="dimmed">
          {texts.common.broken}
        </Text>
      );
    }
    return <Drawn {...this.props} />;
  }
}

/** A component of its own, because a boundary does not catch what it throws itself. */
function Drawn<Data>({ data, draw }: Props<Data>) {
  return draw(data);
}
