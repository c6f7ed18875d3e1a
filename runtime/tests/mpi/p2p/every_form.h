/*
 * Every form of sending and receiving, once each way between two ranks. Included once for the plain names and once for those
 * with large counts: F(name) is the function, COUNT the type of its counts, WALK the name of what is defined.
 */

/* All ways to send; the receive is posted before, since ready mode needs that. */
static void PASTE(WALK, _sends)(int peer, int n)
{
    enum { PLAIN_SEND, BUFFERED, SYNCHRONOUS, READY, MODES };
    enum { BLOCKING, NONBLOCKING, PERSISTENT, KINDS };

    for (int mode = 0; mode < MODES; mode++)
        for (int kind = 0; kind < KINDS; kind++) {
            COUNT count = n;
            MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
            int tag = 10 * mode + kind;

            trying("%s: mode %d, kind %d, %d bytes", NAME(WALK), mode, kind, n);
            prepare(n, tag);
            CHECK_CLASS(MPI_Irecv(in, n, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &r[0]), MPI_SUCCESS);
            MPI_Barrier(MPI_COMM_WORLD);
            switch (KINDS * mode + kind) {
            case KINDS * PLAIN_SEND + BLOCKING: F(MPI_Send)(out, count, MPI_BYTE, peer, tag, MPI_COMM_WORLD); break;
            case KINDS * BUFFERED + BLOCKING: F(MPI_Bsend)(out, count, MPI_BYTE, peer, tag, MPI_COMM_WORLD); break;
            case KINDS * SYNCHRONOUS + BLOCKING: F(MPI_Ssend)(out, count, MPI_BYTE, peer, tag, MPI_COMM_WORLD); break;
            case KINDS * READY + BLOCKING: F(MPI_Rsend)(out, count, MPI_BYTE, peer, tag, MPI_COMM_WORLD); break;
            case KINDS * PLAIN_SEND + NONBLOCKING: F(MPI_Isend)(out, count, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &r[1]); break;
            case KINDS * BUFFERED + NONBLOCKING: F(MPI_Ibsend)(out, count, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &r[1]); break;
            case KINDS * SYNCHRONOUS + NONBLOCKING: F(MPI_Issend)(out, count, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &r[1]); break;
            case KINDS * READY + NONBLOCKING: F(MPI_Irsend)(out, count, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &r[1]); break;
            case KINDS * PLAIN_SEND + PERSISTENT: F(MPI_Send_init)(out, count, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &r[1]); break;
            case KINDS * BUFFERED + PERSISTENT: F(MPI_Bsend_init)(out, count, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &r[1]); break;
            case KINDS * SYNCHRONOUS + PERSISTENT: F(MPI_Ssend_init)(out, count, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &r[1]); break;
            default: F(MPI_Rsend_init)(out, count, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &r[1]);
            }
            if (kind == PERSISTENT)
                CHECK_CLASS(MPI_Start(&r[1]), MPI_SUCCESS);
            finish_send(kind == PERSISTENT, &r[1]);
            MPI_Status status;
            CHECK_CLASS(MPI_Wait(&r[0], &status), MPI_SUCCESS);
            arrived(in, n, tag, peer, &status);
        }
}

/* All ways to receive, from a nonblocking send. */
static void PASTE(WALK, _receives)(int peer, int n)
{
    for (int way = 0; way < 9; way++) {
        COUNT count = n;
        int tag = 100 + way, flag = 0;
        unsigned char *where = in;
        MPI_Request sent = MPI_REQUEST_NULL, r = MPI_REQUEST_NULL;
        MPI_Status status;
        MPI_Message message;

#if !(MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5))
        if (way == 7 || way == 8)
            continue;
#endif
        trying("%s: way %d to receive, %d bytes", NAME(WALK), way, n);
        prepare(n, tag);
        if (way < 5)
            CHECK_CLASS(F(MPI_Isend)(out, count, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &sent), MPI_SUCCESS);
        switch (way) {
        case 0: F(MPI_Recv)(in, count, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &status); break;
        case 1: F(MPI_Irecv)(in, count, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &r); break;
        case 2:
            F(MPI_Recv_init)(in, count, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &r);
            MPI_Startall(1, &r);
            break;
        case 3:
            MPI_Mprobe(peer, tag, MPI_COMM_WORLD, &message, &status);
            F(MPI_Mrecv)(in, count, MPI_BYTE, &message, &status);
            break;
        case 4:
            while (!flag)
                MPI_Improbe(peer, tag, MPI_COMM_WORLD, &flag, &message, &status);
            F(MPI_Imrecv)(in, count, MPI_BYTE, &message, &r);
            break;
        case 5:
            F(MPI_Sendrecv)(out, count, MPI_BYTE, peer, tag, in, count, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &status);
            sends++;
            break;
        case 6:
            F(MPI_Sendrecv_replace)(out, count, MPI_BYTE, peer, tag, peer, tag, MPI_COMM_WORLD, &status);
            sends++;
            where = out;
            break;
#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
        case 7:
            F(MPI_Isendrecv)(out, count, MPI_BYTE, peer, tag, in, count, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &r);
            sends++;
            break;
        default:
            F(MPI_Isendrecv_replace)(out, count, MPI_BYTE, peer, tag, peer, tag, MPI_COMM_WORLD, &r);
            sends++;
            where = out;
#endif
        }
        if (r != MPI_REQUEST_NULL)
            CHECK_CLASS(MPI_Wait(&r, &status), MPI_SUCCESS);
        arrived(where, n, tag, peer, &status);
        if (way == 2)
            MPI_Request_free(&r);
        if (way < 5)
            finish_send(0, &sent);
    }
}

#undef F
#undef COUNT
#undef WALK
