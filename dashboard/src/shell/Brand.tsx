import { Text } from '@mantine/core';
import { Link } from 'wouter';
import { useBrand } from '../shared/useBrand';
import classes from './Brand.module.css';
import { BrandLogo } from './BrandLogo';

export function Brand() {
  const brand = useBrand();
  if (!brand) return null;
  return (
    <Link href="/" className={classes.brand}>
      <BrandLogo brand={brand} size={28} />
      {/* Screen readers read the alternative text of the logo instead. */}
      <Text
        span
        truncate
        className={classes.name}
        fw={650}
        fz="lg"
        lts="-0.01em"
        aria-hidden={Boolean(brand.logo) || undefined}
      >
        {brand.name}
      </Text>
    </Link>
  );
}
