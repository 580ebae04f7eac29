import { notifications } from '@mantine/notifications';
import { ApiError } from '../api/error';
import { failureText } from '../format/failure';

export function notifySuccess(message: string) {
  notifications.show({ message, color: 'petrol' });
}

export function notifyFailure(error: Error) {
  // The session has ended. A dialog asks the user to sign in again.
  if (error instanceof ApiError && error.status === 401) return;
  notifications.show({ message: failureText(error), color: 'red', role: 'alert' });
}
