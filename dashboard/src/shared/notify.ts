import { notifications } from '@mantine/notifications';
import { sentence } from '../format/sentence';

export function notifySuccess(message: string) {
  notifications.show({ message, color: 'petrol' });
}

export function notifyFailure(error: Error) {
  notifications.show({ message: sentence(error.message), color: 'red', role: 'alert' });
}
