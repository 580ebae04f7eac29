import { Component, type ReactNode } from 'react';
import { CrashedPage } from './CrashedPage';

interface Props {
  children: ReactNode;
}

interface State {
  error?: Error;
}

/** Error boundaries in React must be classes. */
export class ErrorBoundary extends Component<Props, State> {
  override state: State = {};

  static getDerivedStateFromError(error: Error): State {
    return { error };
  }

  override render() {
    const { error } = this.state;
    return error ? <CrashedPage error={error} /> : this.props.children;
  }
}
