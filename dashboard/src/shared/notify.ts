import { notifications } from '@mantine/notifications';
import { onceFine } from '../api/connection';
import { ApiError, isOutage } from '../api/error';
import { failureText } from '../format/failure';

export function notifySuccess(message: string) {
  notifications.show({ message, color: 'petrol' });
}

export function notifyFailure(error: Error) {
  // The session has ended. A dialog asks the user to sign in again.
  if (error instanceof ApiError && error.status === 401) return;
  const id = notifications.show({ message: failureText(error), color: 'red', role: 'alert' });
  if (isOutage(error)) onceFine(() => notifications.hide(id));
}
