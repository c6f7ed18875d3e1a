#pragma omp parallel for
