import { notifications } from '@mantine/notifications';
import { ApiError } from '../api/error';
import { sentence } from '../format/sentence';

export function notifySuccess(message: string) {
  notifications.show({ message, color: 'petrol' });
}

export function notifyFailure(error: Error) {
  // The session has ended. A dialog asks the user to sign in again.
  if (error instanceof ApiError && error.status === 401) return;
  notifications.show({ message: sentence(error.message), color: 'red', role: 'alert' });
}
